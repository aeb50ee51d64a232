"""What the ground knows of English: plurals, the words of a field's name, and which nouns are people or goods.

Lists are in `words.toml`, what a field means by its name in `../meaning.toml`.
"""
