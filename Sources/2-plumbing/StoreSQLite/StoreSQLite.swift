// placeholder until the first file of StoreSQLite lands
