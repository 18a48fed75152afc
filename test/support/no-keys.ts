/** Settings of a runner that knows no model but the rehearsal ones. */
export const NO_KEYS = {
  anthropicApiKey: undefined,
  anthropicBaseUrl: undefined,
  openaiApiKey: undefined,
  openaiBaseUrl: undefined,
  modelEndpointKeys: undefined,
  modelEndpoints: undefined,
};
