"""Finding the numbers of a text, in English or Chinese, however they are written.

finding is the pass over a text. It uses the readers of digits, words and characters, then what belongs to a number
(signs, suffixes, ranges, currencies) and what is none (exclusions, labels, markup); those use the vocabularies english
and chinese. All rules read plain text (plain). units says which units are one.
"""

VERSION = "2"  # of the rules; a run that was checked by another version cannot be checked again
