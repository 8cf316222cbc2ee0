"""The scalar base that cp and vc share: RV32IM with Zicsr (`macaw.isa.scalar`)."""
