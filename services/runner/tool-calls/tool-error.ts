/**
 * An expected failure of a tool call. The model gets the message as the error result. A `cause` is an unexpected
 * exception behind the failure: it is logged and never shown to the model.
 */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}
