"""The exports of a run: the rendered Markdown, and one HTML file with or without the stored data."""
