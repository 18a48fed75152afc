/** Providers outside this service. Their model ids are not checked here. */
export const EXTERNAL_PROVIDERS = ['anthropic', 'openai'];
