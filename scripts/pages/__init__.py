"""What the scripts share that make documents from the programs and from docs/."""
