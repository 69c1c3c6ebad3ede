"""What descriptions of languages are made of; the descriptions themselves are the files beside this folder."""
