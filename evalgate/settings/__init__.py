"""What a run was told. A shell needs the limits only, so nothing is gathered here."""
