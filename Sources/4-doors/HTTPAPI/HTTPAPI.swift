// placeholder until the first file of HTTPAPI lands
