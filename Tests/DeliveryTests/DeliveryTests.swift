// placeholder until the first test of Delivery lands
