// placeholder until the first test of HTTPAPI lands
