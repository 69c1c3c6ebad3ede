"""What is known of the product, and from where: facts, evidence, snippets. No model is asked, no code is run."""
