/** A refusal of the REST API: `{code, message, errors?}`. */
export class DiscordError extends Error {
  readonly status: number;
  readonly code: number;
  readonly errors: object | undefined;

  constructor(status: number, code: number, message: string, errors?: object) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

export const unauthorized = () => new DiscordError(401, 0, '401: Unauthorized');
export const notFound = () => new DiscordError(404, 0, '404: Not Found');
export const unknownChannel = () => new DiscordError(404, 10003, 'Unknown Channel');
export const unknownMessage = () => new DiscordError(404, 10008, 'Unknown Message');
export const unknownWebhook = () => new DiscordError(404, 10015, 'Unknown Webhook');
export const unknownInteraction = () => new DiscordError(404, 10062, 'Unknown interaction');
export const alreadyAcknowledged = () =>
  new DiscordError(400, 40060, 'Interaction has already been acknowledged.');
export const missingAccess = () => new DiscordError(403, 50001, 'Missing Access');
export const missingPermissions = () => new DiscordError(403, 50013, 'Missing Permissions');
export const emptyMessage = () => new DiscordError(400, 50006, 'Cannot send an empty message');
export const cannotSendToUser = () => new DiscordError(403, 50007, 'Cannot send messages to this user');
export const foreignMessage = () =>
  new DiscordError(403, 50005, 'Cannot edit a message authored by another user');
export const foreignApplication = () =>
  new DiscordError(403, 20012, 'You are not authorized to perform this action on this application');
export const tooLarge = () => new DiscordError(413, 40005, 'Request entity too large');
export const threadExists = () =>
  new DiscordError(400, 160004, 'A thread has already been created for this message');

/** Refuses a member of the body, such as `components.0.components`. */
export function invalidForm(path: string, code: string, message: string): DiscordError {
  let errors: object = { _errors: [{ code, message }] };
  for (const part of path.split('.').reverse()) errors = { [part]: errors };
  return new DiscordError(400, 50035, 'Invalid Form Body', errors);
}
