// placeholder until the first test of PushService lands
