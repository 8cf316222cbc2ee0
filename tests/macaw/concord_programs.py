"""Programs of nnp for several tests of `macaw concord`."""

from tests.macaw.conftest import ROOT

SAMPLES = ROOT / "tests" / "lowering" / "concord"
LAYER = """        .device tiny
        .input  taken, float16, 29, 4, at=netin
        .output given, float16, 3, 4, at=netout
        .core   nnp
        .hint   tensor W, MatrixRf, 0, 10, 6
        .hint   tensor b, AddSubVrf0, 0, 1, 10
        .hint   tensor x, NetInQ, 27, 1, 6
        .hint   tensor y, NetOutQ, 0, 1, 10
_start: SetRowsCols(3, 2)
        m_rd    NetInQ
        m_wr    MatrixRf, 0
        SetCols(3)
        v_rd    NetInQ
        v_wr    AddSubVrf0, 0
        SetCols(2)
        v_rd    NetInQ
        mv_mul  0
        vv_add  AddSubVrf0, 0
        v_relu
        v_wr    NetOutQ
        end_chain
"""
