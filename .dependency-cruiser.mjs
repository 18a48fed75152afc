/**
 * The import rules. The name of each rule states what it enforces, and test/rules/imports.test.ts plants a violation of
 * each. `import type` counts as an import.
 */

/** Matches a file `name.ts` or a folder `name/`. */
const noun = (name) => `${name}(\\.ts$|/)`;
const npm = (...names) => `^(node_modules/)?(@types/)?(${names.join('|')})(/|$)`;

const PRODUCT = '^(lib|services|edge)/';
const ANY_SERVICE = '^services/([^/]+)/';
const DOMAIN = `^services/([^/]+)/${noun('domain')}`;
const STORE = `^services/([^/]+)/${noun('store')}`;
const HANDLERS = `^services/([^/]+)/${noun('handlers')}`;
/** The composition root: it assembles the services, and no service imports it. */
const BOOTSTRAP = '^services/(main\\.ts$|bootstrap/)';
/** The code that uses lib/db: the store of a service, and the file that opens its pool. */
const DATABASE_USERS = `^services/[^/]+/(${noun('store')}|${noun('service')})`;

/** The folders of the console. `consoleBut` matches all of them except the listed ones. */
const CONSOLE = ['gen', 'api', 'journal', 'ui', 'parts', 'pages', 'app'];
const consoleBut = (...allowed) =>
  `^console/(${CONSOLE.filter((folder) => !allowed.includes(folder)).join('|')})(/|$)`;

const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const lib = [
  forbid(
    'lib-is-acyclic',
    'lib/ has no import cycles. Move the shared part into a third file.',
    { path: '^lib/' },
    { circular: true },
  ),
  forbid(
    'lib-imports-no-service',
    'lib/ is independent of services. Take a parameter instead.',
    { path: '^lib/' },
    { path: '^(services|edge)/' },
  ),
  forbid(
    'lib-imports-no-service-contract',
    'A contract belongs to its service. Only the messages of the error trailers and the contracts of calls, health and reflection are used in lib/grpc.',
    { path: '^lib/' },
    { path: '^proto/', pathNot: '^proto/gen/((ahs/(common|calls)|google|grpc)/|descriptors[.]json)' },
  ),
  forbid(
    'only-lib-grpc-imports-shared-contracts',
    'The rest of lib/ uses lib/errors.ts for errors.',
    { path: '^lib/', pathNot: '^lib/grpc/' },
    { path: '^proto/gen/((ahs/(common|calls)|google|grpc)/|descriptors[.]json)' },
  ),
  forbid(
    'contracts-import-no-product-code',
    'Generated code imports no product code.',
    { path: '^proto/' },
    { path: '^(lib|services|edge)/' },
  ),
];

const services = [
  forbid(
    'domain-is-pure',
    'The domain is pure: no I/O, no clock, no package except croner and temporal-polyfill in one file each. It may import lib/errors, lib/error-codes, lib/ids, lib/text, lib/events, lib/event-parts, lib/event-types, lib/paths, lib/skill-prompt, lib/backoff, lib/digest, lib/json-schema/schema, lib/field-problems, lib/mcp-catalogue and the tables lib/tools, lib/question-form, lib/model-options, lib/model-media, lib/models/{entry,table}, lib/model-providers, lib/secret, lib/sandboxes, lib/hosts, lib/host-patterns, lib/egress, lib/variables, lib/part-limits, lib/audit-actions, lib/revisions, lib/oauth-form, lib/product-permissions, lib/metadata-filter and lib/token-estimate.',
    { path: DOMAIN },
    {
      pathNot: [
        '^lib/(errors|error-codes|field-problems|ids|text|events|event-parts|event-types|tools|question-form|model-options|model-media|model-providers|secret|sandboxes|hosts|host-patterns|egress|variables|part-limits|audit-actions|revisions|oauth-form|product-permissions|metadata-filter|token-estimate|paths|skill-prompt|backoff|digest|mcp-catalogue)(\\.ts$|/)',
        '^lib/json-schema/schema\\.ts$',
        '^lib/models/(entry|table)\\.ts$',
        // Pure. The rules of drivers name the one file that may import each.
        npm('croner', 'temporal-polyfill'),
        `^services/$1/${noun('domain')}`,
      ],
    },
  ),
  forbid(
    'only-stores-import-lib-db',
    'All SQL is in the store. Add a function to the store of the service.',
    { path: ANY_SERVICE, pathNot: [DATABASE_USERS, BOOTSTRAP] },
    { path: '^lib/db/' },
  ),
  forbid(
    'store-imports-only-database-code',
    'A store saves decisions of its domain and then publishes hints. It may import lib/db, the bus, lib/errors, lib/ids, ' +
      'lib/clock, lib/lru, lib/semaphore and its own service except handlers, service and config.',
    { path: STORE },
    {
      pathNot: [
        '^lib/db/',
        '^lib/bus/bus\\.ts$',
        '^lib/(errors|ids|clock|lru|semaphore)\\.ts$',
        '^services/$1/(?!(handlers|service|config)(\\.ts$|/))',
      ],
    },
  ),
  forbid(
    'handlers-import-only-allowed-modules',
    'A handler connects a call with domain and store. It may import contracts, lib/grpc, value modules of lib/ and its own service.',
    { path: HANDLERS },
    {
      pathNot: [
        '^proto/gen/',
        '^lib/grpc/',
        // The rule only-stores-import-lib-db covers these imports.
        '^lib/db/',
        '^lib/(errors|error-codes|field-problems|ids|text|events|event-parts|event-types|audit-actions|trace|digest|revisions|metadata-filter|context-settings)\\.ts$',
        '^lib/(clock|cache|sealing|secret)\\.ts$',
        '^lib/(json-schema|mcp-catalogue)/',
        '^lib/models/(entry|table)\\.ts$',
        '^lib/mcp/open\\.ts$',
        '^services/$1/',
      ],
    },
  ),
  forbid(
    'no-service-imports-another',
    'Call the other service through its contract. The client is passed in.',
    { path: ANY_SERVICE, pathNot: BOOTSTRAP },
    { path: '^services/', pathNot: '^services/$1/' },
  ),
  forbid(
    'no-service-imports-the-edge',
    'Services serve gRPC only. The edge serves HTTP.',
    { path: ANY_SERVICE, pathNot: BOOTSTRAP },
    { path: '^edge/' },
  ),
  forbid(
    'no-circular-imports',
    'Merge files that import each other, or extract the shared part.',
    { path: '^(services|edge|scripts|console)/', pathNot: '^console/gen/' },
    { circular: true },
  ),
];

/** The components of the runner from top to bottom. Each may import only components behind it. */
const RUNNER = [
  'service.ts',
  'config.ts',
  'loop',
  'context',
  'queue',
  'tools',
  'sandbox-pool',
  'credentials',
  'workspace',
  'parts',
  'models',
  'sandbox-providers',
  'sandbox',
  'network',
  'kernel',
  'tool-calls',
];
const runnerPart = (...parts) => `^services/runner/(${parts.join('|').replaceAll('.', '\\.')})(/|$)`;

const runner = [
  forbid(
    'runner-has-only-its-listed-components',
    'Put the file into a component of services/runner, or add a component to RUNNER in .dependency-cruiser.mjs.',
    { path: '^services/runner/', pathNot: runnerPart(...RUNNER) },
    {},
  ),
  ...RUNNER.slice(1).map((part, index) =>
    forbid(
      `runner-${part.replace('.ts', '')}-imports-only-lower-components`,
      'The components of the runner form layers: move the shared part down, or pass it in as a parameter.',
      { path: runnerPart(part) },
      { path: runnerPart(...RUNNER.slice(0, index + 1)) },
    ),
  ),
];

const edge = [
  forbid(
    'edge-imports-no-database',
    'The edge has no business rules, tables or stored bytes. Call the service that has them.',
    { path: '^edge/' },
    { path: '^lib/(db|blobs)/' },
  ),
  forbid(
    'edge-imports-no-service',
    'The edge calls services through generated clients that are passed in.',
    { path: '^edge/' },
    { path: '^services/' },
  ),
  forbid(
    'only-edge-imports-fastify',
    'Only the edge serves HTTP.',
    { path: '^(lib|services|scripts|proto)/' },
    { path: npm('fastify', 'fastify-[^/]+', '@fastify/[^/]+', '@scalar/[^/]+') },
  ),
];

const consoles = [
  forbid(
    'console-imports-only-the-generated-client',
    'The console uses only the client that is generated from the description of /api/v1.',
    { path: '^console/' },
    { path: '^(lib|services|edge|proto|scripts)/' },
  ),
  forbid(
    'only-console-imports-console',
    'The console is built and served as static files.',
    { path: '^(lib|services|edge|scripts|proto)/' },
    { path: '^console/' },
  ),
  forbid(
    'console-imports-no-node-modules',
    'Browsers have no Node modules.',
    { path: '^console/', pathNot: '^console/vite\\.config\\.ts$' },
    { dependencyTypes: ['core'] },
  ),
  forbid(
    'console-gen-imports-nothing',
    'Generated code imports no product code.',
    { path: '^console/gen/' },
    { path: consoleBut('gen') },
  ),
  forbid(
    'console-api-imports-only-the-client',
    'api/ wraps the generated client and imports neither components nor pages.',
    { path: '^console/api/' },
    { path: consoleBut('gen', 'api') },
  ),
  forbid(
    'console-journal-imports-no-component',
    'journal/ derives view models from events and imports neither components nor pages.',
    { path: '^console/journal/' },
    // The text of a retry contains a duration.
    { path: consoleBut('gen', 'api', 'journal'), pathNot: '^console/parts/text/duration\\.ts$' },
  ),
  forbid(
    'console-ui-imports-no-data-or-pages',
    'ui/ holds generic components. Pass data as properties.',
    { path: '^console/ui/' },
    { path: consoleBut('ui') },
  ),
  forbid(
    'console-ui-imports-three-packages',
    'Components use only react, @base-ui/react and lucide-react, and load no data.',
    { path: '^console/ui/' },
    {
      path: '(^|/)node_modules/',
      pathNot: '(^|/)node_modules/(@types/)?(react|react-dom|@base-ui/react|lucide-react)/',
    },
  ),
  forbid(
    'console-parts-import-no-page',
    'parts/ is shared by several pages and imports none of them.',
    { path: '^console/parts/' },
    { path: consoleBut('gen', 'api', 'journal', 'ui', 'parts') },
  ),
  forbid(
    'console-pages-import-no-app-code',
    'The app imports its pages. Pages get values of the app through the router.',
    { path: '^console/pages/' },
    { path: '^console/app/' },
  ),
  forbid(
    'console-pages-import-no-other-page',
    'Code that two pages share belongs in ui/, api/ or parts/.',
    { path: '^console/pages/([^/]+)/' },
    { path: '^console/pages/', pathNot: '^console/pages/$1/' },
  ),
];

/** Each driver is imported in one folder. Tests may use the drivers directly. */
const driver = (name, folder, ...packages) =>
  forbid(
    name,
    `Only ${folder} imports this driver. Use the functions of that folder.`,
    { path: '^(lib|services|edge|scripts|proto)/', pathNot: `^${noun(folder)}` },
    { path: npm(...packages) },
  );

const drivers = [
  driver('only-lib-db-imports-postgres', 'lib/db', 'pg', 'pg-[^/]+'),
  driver('only-lib-bus-imports-redis', 'lib/bus', 'redis', '@redis/[^/]+', 'ioredis'),
  driver('only-lib-blobs-imports-s3', 'lib/blobs', 'minio', '@aws-sdk/[^/]+'),
  driver('only-lib-grpc-imports-grpc', 'lib/grpc', '@grpc/[^/]+', 'nice-grpc', 'nice-grpc-[^/]+'),
  driver('only-lib-telemetry-imports-opentelemetry', 'lib/telemetry', '@opentelemetry/[^/]+'),
  driver('only-lib-outbound-imports-undici', 'lib/outbound', 'undici'),
  driver('only-lib-mcp-imports-the-mcp-client', 'lib/mcp', '@modelcontextprotocol/(client|core)'),
  driver('only-lib-metrics-imports-prometheus', 'lib/metrics', 'prom-client'),
  driver(
    'only-the-simulated-shell-imports-just-bash',
    'services/runner/sandbox-providers/simulated',
    'just-bash',
  ),
  driver(
    'only-the-interceptor-imports-x509',
    'services/runner/network/intercept',
    '@peculiar/x509',
    'reflect-metadata',
  ),
  driver('only-the-calendar-imports-croner', 'services/deployments/domain/schedules/calendar', 'croner'),
  driver('only-the-zone-imports-temporal', 'services/deployments/domain/schedules/zone', 'temporal-polyfill'),
  driver('only-vaults-oauth-imports-oauth4webapi', 'services/vaults/oauth', 'oauth4webapi'),
  driver('only-auth-imports-identity-libraries', 'services/auth', 'openid-client', 'jose'),
  driver('only-the-runner-imports-model-libraries', 'services/runner', 'ai', '@ai-sdk/[^/]+'),
  driver('only-the-slack-product-imports-slack', 'services/channels/products/slack', '@slack/[^/]+'),
  driver('only-the-telegram-product-imports-grammy', 'services/channels/products/telegram', 'grammy'),
  driver(
    'only-the-discord-product-imports-discord',
    'services/channels/products/discord',
    '@discordjs/[^/]+',
  ),
  forbid(
    'messaging-products-are-loaded-on-demand',
    'A channel worker loads the library of a product with the first channel of that product. Use products/registry.ts.',
    { path: '^services/(?!channels/products/[^/]+/)' },
    {
      path: '^services/channels/products/[^/]+/',
      dependencyTypesNot: ['dynamic-import', 'type-only'],
    },
  ),
  forbid(
    'model-providers-are-loaded-on-demand',
    'Start-up must not wait for packages of providers that are possibly never used. Load them with import() at their first use.',
    { path: PRODUCT },
    {
      path: npm('@ai-sdk/(anthropic|openai|openai-compatible|amazon-bedrock|azure|google|google-vertex)'),
      dependencyTypesNot: ['dynamic-import', 'type-only'],
    },
  ),
  forbid(
    'trace-export-is-loaded-on-demand',
    'Without a collector, start-up must not wait for the export libraries. Use lib/telemetry/open.ts.',
    { path: PRODUCT },
    { path: '^lib/telemetry/otlp\\.ts$', dependencyTypesNot: ['dynamic-import', 'type-only'] },
  ),
];

const product = [
  forbid(
    'product-imports-no-tests',
    'A fake that the product needs is a product feature and belongs to the product folders.',
    { path: '^(lib|services|edge|scripts|proto)/' },
    { path: '^test/' },
  ),
  forbid(
    'product-imports-no-scripts',
    'Scripts are tools for developers.',
    { path: PRODUCT },
    { path: '^scripts/' },
  ),
  forbid(
    'product-imports-no-dev-package',
    'Declare the package under dependencies. A production installation omits development packages. Packages of optional ' +
      'model providers are optional peer dependencies, too, which an operator installs.',
    { path: '^(lib|services|edge|proto)/' },
    { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm-peer'] },
  ),
  forbid(
    'every-package-is-declared',
    'A transitive package can disappear with the package that requires it. Declare it in package.json.',
    {},
    { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  ),
  forbid(
    'every-import-resolves',
    'The file or package does not exist.',
    // A test generates the clients that these journeys import.
    { pathNot: '^test/real/clients/' },
    { couldNotResolve: true },
  ),
];

export default {
  forbidden: [...lib, ...services, ...runner, ...edge, ...consoles, ...drivers, ...product],
  options: {
    doNotFollow: { path: '(^|/)node_modules/' },
    exclude: { path: '^console/(dist|\\.dist-[^/]+)/' },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.cjs', '.js', '.json', '.d.ts'],
    },
  },
};
