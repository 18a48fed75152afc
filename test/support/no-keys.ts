/** Runner settings with rehearsal models only. */
export const NO_KEYS = {
  anthropicApiKey: undefined,
  anthropicBaseUrl: undefined,
  openaiApiKey: undefined,
  openaiBaseUrl: undefined,
  modelEndpointKeys: undefined,
  modelEndpoints: undefined,
};
