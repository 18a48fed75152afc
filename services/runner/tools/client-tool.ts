import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { ClientCallKind } from '../../../lib/event-types.ts';
import { describeProblems } from '../../../lib/json-schema/describe-problems.ts';
import type { SchemaValidator } from '../../../lib/json-schema/validator.ts';
import type { RegisteredTool } from './tool.ts';

/** A tool that the runner does not run: a call stops the turn until the client or a person answers it. */
export interface ClientTool {
  name: string;
  callKind: ClientCallKind;
  /** The tool definition for the model. */
  definition: LanguageModelV4FunctionTool;
  /** Describes for the model why an input is invalid; undefined for valid input. */
  inputProblem(input: unknown): string | undefined | Promise<string | undefined>;
}

export interface ClientToolSpec {
  name: string;
  description: string;
  /** A JSON Schema without problems (`findSchemaProblem`), as JSON text. */
  inputSchemaJson: string;
}

export function isClientTool(tool: RegisteredTool | ClientTool): tool is ClientTool {
  return 'callKind' in tool;
}

/** Returns a tool that the API client runs. */
export function createClientTool(
  { name, description, inputSchemaJson }: ClientToolSpec,
  validator: Pick<SchemaValidator, 'validate'>,
): ClientTool {
  return {
    name,
    callKind: 'tool_result',
    definition: { type: 'function', name, description, inputSchema: JSON.parse(inputSchemaJson) },
    async inputProblem(input) {
      const json = JSON.stringify(input) ?? 'null';
      const outcome = await validator.validate({ schemaJson: inputSchemaJson, json });
      if (outcome.kind === 'valid') return undefined;
      if (outcome.kind === 'too_expensive') return outcome.message;
      return describeProblems(outcome.problems);
    },
  };
}
