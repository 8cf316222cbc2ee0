"""What cp and vc share: RV32IM with Zicsr, as declared in `isa.scalar`."""
