// placeholder until the first test of APNSSimulator lands
