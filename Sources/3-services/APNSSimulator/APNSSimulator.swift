// placeholder until the first file of APNSSimulator lands
