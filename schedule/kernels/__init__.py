"""The ground of the schedules: contractions, register tiles, tilings, epilogues, padding."""
