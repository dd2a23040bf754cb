"""Texts for the tests of finding and tracing: tables of sentences beside this file, and pieces of hostile texts."""

# Repeated, each makes a text that a careless rule would look through again and again.
HOSTILE_PIECES = (
    "1", ",111", "1,", ".1", "1.", "-1", "1-", "1/2 ", "1 1/2 ", "(1) ", "1:", "e9", "1e", "12月", "`", "``` `",
    "[", "](", "[[m:", "<", "*", "#", "\n", "\n\n", " ", "\u00a0", "\u200b", "e\u0301", "一", "十", "百", "千万", "亿",
    "零", "点", "二三", "十一", "百分之", "分之", "负", "one ", "one of ", "one and ", "a ", "hundred ", "and ", "point one ",
    "half ", "quarter ", "third ", "of 2026 ", "in 2026, ", "May ", "$", "$(", "(", ")", "|", "| (1) ", "%", "k",
    "million ", "to ", "x", "http://", "www.", "@", "a@", "~~~\n", "```\n", "- ", "1. ", "第", "周一", "上", "几十",
    "三百五十、", "亿", "万 ", "十百", ".com", "年.com ", "5.com/", "2026年、", "9月-", "~",
)  # fmt: skip
