/** The page that is served while the console is not built. */
export const UNBUILT = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Agent Hosting Service</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <p>The console is not built. Run <code>npm run console</code> where the service is installed and reload this page. The <a href="/docs">API</a> works without it.</p>
  </body>
</html>
`;
