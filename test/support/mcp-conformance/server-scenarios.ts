/** How a scenario of the suite is run. */
interface Plan {
  /** Against the product, without fixtures. */
  product: readonly string[];
  /** Against the handler of the product with the tools, prompts and resources that the scenarios call by name. */
  fixtures: readonly string[];
  /** The scenarios that are not run, with the reason. */
  notRun: Readonly<Record<string, string>>;
}

const STATELESS =
  'A request of the server needs a connection that outlives the call. Requests of 2025-11-25 are stateless here.';
const NO_SUBSCRIPTIONS = 'Requests of 2025-11-25 have no stream on which changes could be reported.';
const SKILLS = 'The extension for skills is not offered.';

const CONTENT = [
  'completion-complete',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
];

/** Each scenario of the suite for a revision is in one member of the plan. Extensions belong to the newer revision. */
export const PLANS: Readonly<Record<string, Plan>> = {
  '2025-11-25': {
    product: ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'],
    fixtures: [...CONTENT, 'logging-set-level', 'tools-call-with-logging'],
    notRun: {
      'tools-call-sampling': STATELESS,
      'tools-call-elicitation': STATELESS,
      'elicitation-sep1034-defaults': STATELESS,
      'elicitation-sep1330-enums': STATELESS,
      'resources-subscribe': NO_SUBSCRIPTIONS,
      'resources-unsubscribe': NO_SUBSCRIPTIONS,
      'server-session-lifecycle':
        'The server has no sessions of the protocol. The scenario then has no checks.',
      'server-sse-polling': 'The server has no sessions of the protocol. The scenario then has no checks.',
      'server-sse-multiple-streams':
        'The server has no sessions of the protocol. The scenario then has no checks.',
    },
  },
  '2026-07-28': {
    product: [
      'tools-list',
      'resources-list',
      'sep-2164-resource-not-found',
      'dns-rebinding-protection',
      'http-header-validation',
      'server-sse-multiple-streams',
      'input-required-result-unsupported-methods',
    ],
    fixtures: [
      ...CONTENT,
      'server-stateless',
      'caching',
      'http-custom-header-server-validation',
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-missing-input-response',
      'input-required-result-non-tool-request',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
      'input-required-result-ignore-extra-params',
      'input-required-result-validate-input',
      'tasks-lifecycle',
      'tasks-capability-negotiation',
      'tasks-wire-fields',
      'tasks-request-state-removal',
      'tasks-mrtr-input',
      'tasks-request-headers',
      'tasks-dispatch-and-envelope',
      'tasks-mrtr-composition',
    ],
    notRun: {
      'tasks-required-task-error': 'No tool needs tasks: each also answers clients without them.',
      'tasks-status-notifications': 'The suite skips it: it has no checks yet.',
      'sep-2640-skills-directory': SKILLS,
      'sep-2640-skills-enumeration': SKILLS,
      'sep-2640-skills-manifest': SKILLS,
    },
  },
};
