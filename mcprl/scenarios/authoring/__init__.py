"""Tasks by a language model: written (`author`), executed (`vetting`), and put into other words (`rewrite`)."""
