// placeholder until the first file of PushService lands
