/**
 * Who may import whom. Each rule reads as the sentence it enforces, and test/rules/imports.test.ts plants one
 * fault for each. `import type` counts like any other import.
 */

/** A file `name.ts`, or a folder `name/` that it grew into. */
const noun = (name) => `${name}(\\.ts$|/)`;
const npm = (...names) => `^(node_modules/)?(@types/)?(${names.join('|')})(/|$)`;

const PRODUCT = '^(lib|services|edge)/';
const ANY_SERVICE = '^services/([^/]+)/';
const DOMAIN = `^services/([^/]+)/${noun('domain')}`;
const STORE = `^services/([^/]+)/${noun('store')}`;
const HANDLERS = `^services/([^/]+)/${noun('handlers')}`;
/** The composition root: assembles the services, and is known to none of them. */
const HOUSE = '^services/(main\\.ts$|house/)';
/** Where the SQL of a service is put to use: the store, and the file that opens the pool. */
const DATABASE_USERS = `^services/[^/]+/(${noun('store')}|${noun('service')})`;

/** What of the console a part of it may know, besides packages: those that are listed, and itself. */
const CONSOLE = ['gen', 'api', 'journal', 'ui', 'parts', 'pages', 'app'];
const consoleBut = (...rooms) =>
  `^console/(${CONSOLE.filter((room) => !rooms.includes(room)).join('|')})(/|$)`;

const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const lib = [
  forbid(
    'lib-is-acyclic',
    'What everything stands on is read from the bottom up: move the shared part below both.',
    { path: '^lib/' },
    { circular: true },
  ),
  forbid(
    'lib-knows-no-service',
    'lib/ serves services that it does not know: take a parameter instead.',
    { path: '^lib/' },
    { path: '^(services|edge)/' },
  ),
  forbid(
    'lib-knows-no-contract',
    'A contract belongs to a service; only the error trailer that all of them share is known to lib/grpc.',
    { path: '^lib/' },
    { path: '^proto/', pathNot: '^proto/gen/ahs/common/' },
  ),
  forbid(
    'only-the-transport-knows-the-error-trailer',
    'The rest of lib/ speaks of errors by lib/errors.ts.',
    { path: '^lib/', pathNot: '^lib/grpc/' },
    { path: '^proto/gen/ahs/common/' },
  ),
  forbid(
    'contracts-know-nobody',
    'Generated code stands alone.',
    { path: '^proto/' },
    { path: '^(lib|services|edge)/' },
  ),
];

const services = [
  forbid(
    'domain-is-pure',
    'What is true and what may happen: no I/O, no clock, no package. It may know lib/errors, lib/ids, lib/text, lib/events, lib/paths and the tables lib/tools, lib/sandboxes, lib/hosts and lib/acts.',
    { path: DOMAIN },
    {
      pathNot: [
        '^lib/(errors|ids|text|events|tools|sandboxes|hosts|acts|paths)(\\.ts$|/)',
        `^services/$1/${noun('domain')}`,
      ],
    },
  ),
  forbid(
    'store-holds-the-sql',
    'SQL is visible in one place: ask the store of the service.',
    { path: ANY_SERVICE, pathNot: [DATABASE_USERS, HOUSE] },
    { path: '^lib/db/' },
  ),
  forbid(
    'store-knows-only-the-database',
    'A store keeps what its domain decided, then hints. It may know lib/db, the bus, lib/errors, lib/ids, lib/clock ' +
      'and its own folder below the handlers.',
    { path: STORE },
    {
      pathNot: [
        '^lib/db/',
        '^lib/bus/bus\\.ts$',
        '^lib/(errors|ids|clock)\\.ts$',
        '^services/$1/(?!(handlers|service|config)(\\.ts$|/))',
      ],
    },
  ),
  forbid(
    'handlers-answer-calls',
    'A handler turns a call into domain and store: contracts, lib/grpc, values and what it is handed, its own folder.',
    { path: HANDLERS },
    {
      pathNot: [
        '^proto/gen/',
        '^lib/grpc/',
        // store-holds-the-sql speaks about this one.
        '^lib/db/',
        '^lib/(errors|ids|text|events|acts|trace|digest)\\.ts$',
        '^lib/(clock|cache|sealing)\\.ts$',
        '^services/$1/',
      ],
    },
  ),
  forbid(
    'no-service-imports-another',
    'Ask its contract: the client is handed in.',
    { path: ANY_SERVICE, pathNot: HOUSE },
    { path: '^services/', pathNot: '^services/$1/' },
  ),
  forbid(
    'no-service-knows-the-edge',
    'Services answer gRPC; HTTP is in front of them.',
    { path: ANY_SERVICE, pathNot: HOUSE },
    { path: '^edge/' },
  ),
  forbid(
    'nothing-goes-in-circles',
    'Two files that need each other are one, or hide a third.',
    { path: '^(services|edge|scripts|console)/', pathNot: '^console/gen/' },
    { circular: true },
  ),
];

const edge = [
  forbid(
    'edge-has-no-database',
    'The edge holds no rule, no table and no bytes: ask the service that does.',
    { path: '^edge/' },
    { path: '^lib/(db|blobs)/' },
  ),
  forbid(
    'edge-imports-no-service',
    'The edge speaks to generated clients, which it is handed.',
    { path: '^edge/' },
    { path: '^services/' },
  ),
  forbid(
    'only-edge-knows-fastify',
    'HTTP ends at the edge.',
    { path: '^(lib|services|scripts|proto)/' },
    { path: npm('fastify', 'fastify-[^/]+', '@fastify/[^/]+', '@scalar/[^/]+') },
  ),
];

const consoles = [
  forbid(
    'console-knows-the-api-alone',
    'The console speaks /api/v1, by what is generated from its description: what is shared goes through there.',
    { path: '^console/' },
    { path: '^(lib|services|edge|proto|scripts)/' },
  ),
  forbid(
    'nobody-knows-the-console',
    'It is built, and served as files.',
    { path: '^(lib|services|edge|scripts|proto)/' },
    { path: '^console/' },
  ),
  forbid(
    'console-runs-in-browsers',
    'There is no Node there.',
    { path: '^console/', pathNot: '^console/vite\\.config\\.ts$' },
    { dependencyTypes: ['core'] },
  ),
  forbid(
    'console-gen-stands-alone',
    'Generated code stands alone.',
    { path: '^console/gen/' },
    { path: consoleBut('gen') },
  ),
  forbid(
    'console-api-knows-the-client',
    'api/ is the generated client with names for what is asked: it knows neither components nor pages.',
    { path: '^console/api/' },
    { path: consoleBut('gen', 'api') },
  ),
  forbid(
    'console-journal-knows-no-page',
    'journal/ makes something to show from events: it knows neither components nor pages.',
    { path: '^console/journal/' },
    { path: consoleBut('gen', 'api', 'journal') },
  ),
  forbid(
    'console-ui-knows-neither-api-nor-pages',
    'ui/ is what pages are made of, whatever they are about: hand over what it shows.',
    { path: '^console/ui/' },
    { path: consoleBut('ui') },
  ),
  forbid(
    'console-ui-is-made-of-three-packages',
    'Components are made with react, @base-ui/react and lucide-react, and know no data.',
    { path: '^console/ui/' },
    {
      path: '(^|/)node_modules/',
      pathNot: '(^|/)node_modules/(@types/)?(react|react-dom|@base-ui/react|lucide-react)/',
    },
  ),
  forbid(
    'console-parts-know-no-page',
    'parts/ is what several pages need: it knows none of them.',
    { path: '^console/parts/' },
    { path: consoleBut('gen', 'api', 'journal', 'ui', 'parts') },
  ),
  forbid(
    'console-pages-know-not-the-app',
    'The app knows its pages: what it has for them comes through the router.',
    { path: '^console/pages/' },
    { path: '^console/app/' },
  ),
  forbid(
    'console-pages-know-not-each-other',
    'What two pages need goes to ui/, api/ or parts/.',
    { path: '^console/pages/([^/]+)/' },
    { path: '^console/pages/', pathNot: '^console/pages/$1/' },
  ),
];

/** One home for each driver; tests may speak to the backends themselves. */
const driver = (name, home, ...packages) =>
  forbid(
    name,
    `This driver is imported in ${home} only: use what that folder offers.`,
    { path: '^(lib|services|edge|scripts|proto)/', pathNot: `^${noun(home)}` },
    { path: npm(...packages) },
  );

const drivers = [
  driver('only-lib-db-speaks-postgres', 'lib/db', 'pg', 'pg-[^/]+'),
  driver('only-lib-bus-speaks-redis', 'lib/bus', 'redis', '@redis/[^/]+', 'ioredis'),
  driver('only-lib-blobs-speaks-s3', 'lib/blobs', 'minio', '@aws-sdk/[^/]+'),
  driver('only-lib-grpc-speaks-grpc', 'lib/grpc', '@grpc/[^/]+', 'nice-grpc', 'nice-grpc-[^/]+'),
  driver('only-lib-telemetry-speaks-opentelemetry', 'lib/telemetry', '@opentelemetry/[^/]+'),
  driver('only-lib-metrics-speaks-prometheus', 'lib/metrics', 'prom-client'),
  driver('only-the-simulated-shell-knows-its-library', 'services/runner/sandbox/simulated', 'just-bash'),
  driver('only-auth-speaks-to-identity-providers', 'services/auth', 'openid-client', 'jose'),
  driver('only-the-runner-speaks-to-models', 'services/runner', 'ai', '@ai-sdk/[^/]+'),
  forbid(
    'providers-are-loaded-when-needed',
    'A start does not wait for the packages of providers that nobody may ever ask: import() them at their first use.',
    { path: PRODUCT },
    {
      path: npm('@ai-sdk/(anthropic|openai|openai-compatible)'),
      dependencyTypesNot: ['dynamic-import', 'type-only'],
    },
  ),
  forbid(
    'exporting-is-loaded-when-needed',
    'Without a collector, a start does not wait for the libraries that speak to one: use lib/telemetry/open.ts.',
    { path: PRODUCT },
    { path: '^lib/telemetry/otlp\\.ts$', dependencyTypesNot: ['dynamic-import', 'type-only'] },
  ),
];

const product = [
  forbid(
    'tests-do-not-leak-into-the-product',
    'Fakes that the product needs are product features and live with it.',
    { path: '^(lib|services|edge|scripts|proto)/' },
    { path: '^test/' },
  ),
  forbid(
    'the-product-runs-without-scripts',
    'Scripts serve developers.',
    { path: PRODUCT },
    { path: '^scripts/' },
  ),
  forbid(
    'the-product-needs-no-dev-package',
    'Declare it under dependencies: an installation for production leaves the others out.',
    { path: '^(lib|services|edge|proto)/' },
    { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  ),
  forbid(
    'every-package-is-declared',
    'A package that only another package brought along may leave with it.',
    {},
    { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  ),
  forbid('every-import-is-found', 'There is no such file or package.', {}, { couldNotResolve: true }),
];

export default {
  forbidden: [...lib, ...services, ...edge, ...consoles, ...drivers, ...product],
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
