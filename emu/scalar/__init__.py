"""What cp and vc share: RV32IM with Zicsr, as declared in `macaw.isa.scalar`."""
