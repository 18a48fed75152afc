/** The metadata key of the service token. The name stays so that old and new releases can call each other. */
export const SERVICE_TOKEN = 'ahs-passport';
/** Milliseconds that the caller waits. */
export const TIMEOUT = 'ahs-timeout-ms';
export const REQUEST_ID = 'ahs-request-id';
