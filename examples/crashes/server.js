console.error("crashes: the setting DATABASE_URL is missing");
process.exitCode = 1;
