/** Shown instead of a console that nobody has built. */
export const UNBUILT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Agent Hosting Service</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <p>The console is not built: run <code>npm run console</code> where the service is installed, and load this page again. The <a href="/docs">API</a> works without it.</p>
  </body>
</html>
`;
