// placeholder until the first test of APNSClient lands
