// placeholder until the first file of APNSClient lands
