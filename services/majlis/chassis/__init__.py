"""What every service stands on: settings, gRPC plumbing, tokens, telemetry, clock, journal and read models."""
