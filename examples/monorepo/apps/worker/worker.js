setInterval(() => console.log("Nothing to do"), 60_000);
