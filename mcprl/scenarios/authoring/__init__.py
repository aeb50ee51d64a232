"""Tasks by a language model: written (`author`) and executed (`vetting`)."""
