"""Makes and checks concordant software: Python files that give the same bits as an nnp program."""
