import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { once } from '../../lib/once.ts';
import { READ_METHODS } from '../access.ts';
import { COMPRESSION } from '../plugins/compression.ts';

const loadDocument = once(() => import('../openapi/document.ts'));
const loadGuide = once(() => import('../openapi/guide.ts'));

const OPEN = { method: READ_METHODS, config: { access: 'open' } } as const;
const COMPRESSED = { ...OPEN, compress: COMPRESSION };
const IMMUTABLE = 'public, max-age=86400';
/** The API reference needs inline styles. Scripts are loaded from this origin only. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const CONFIGURATION = {
  url: '/openapi.json',
  withDefaultFonts: false,
  hideClientButton: true,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
};

const attribute = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Agent Hosting Service API</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <script id="api-reference" type="application/json" data-configuration="${attribute(JSON.stringify(CONFIGURATION))}"></script>
    <script src="/docs/reference.js"></script>
  </body>
</html>
`;

/**
 * Serves the API reference, the OpenAPI document and the guide for language models, all made from the same routes. `origin`
 * returns the origin under which the client of a request reaches the service.
 */
export function serveDocs(app: FastifyInstance, origin: (request: FastifyRequest) => string): void {
  let bundle: Promise<Buffer> | undefined;

  app.route({
    ...OPEN,
    url: '/docs',
    async handler(_, reply) {
      reply.header('content-security-policy', PAGE_POLICY).type('text/html; charset=utf-8');
      return PAGE;
    },
  });
  app.route({
    ...COMPRESSED,
    url: '/docs/reference.js',
    async handler(_, reply) {
      bundle ??= loadBundle();
      reply.header('cache-control', IMMUTABLE).type('text/javascript; charset=utf-8');
      return bundle;
    },
  });
  app.route({
    ...COMPRESSED,
    url: '/openapi.json',
    async handler(request, reply) {
      reply.type('application/json; charset=utf-8');
      const { renderOpenApi } = await loadDocument();
      return JSON.stringify(renderOpenApi(origin(request)));
    },
  });
  app.route({
    ...COMPRESSED,
    url: '/llms.txt',
    async handler(request, reply) {
      reply.type('text/plain; charset=utf-8');
      const { renderGuide } = await loadGuide();
      return renderGuide(origin(request));
    },
  });
}

/** The script is inside a plugin of several megabytes, so it is loaded on the first request and extracted once. */
async function loadBundle(): Promise<Buffer> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  await using app = Fastify();
  await app.register(scalar, { routePrefix: '/', configuration: { content: {} } });
  const { rawPayload, statusCode } = await app.inject('/js/scalar.js');
  if (statusCode !== 200) throw new Error(`The API reference returned ${statusCode} for its script.`);
  return rawPayload;
}
