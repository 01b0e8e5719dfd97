// placeholder until the first test of PushPayload lands
