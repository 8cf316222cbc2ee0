"""Makes and checks concordant software: Python that gives the same bits as an nnp program."""
