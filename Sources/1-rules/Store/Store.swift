// placeholder until the first file of Store lands
