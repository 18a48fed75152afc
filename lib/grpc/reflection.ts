import {
  ServerReflectionDefinition,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from '../../proto/gen/grpc/reflection/v1/reflection.ts';
import { abortable } from './abortable.ts';

/** A contract file, from proto/gen/descriptors.json. */
interface ContractFile {
  name: string;
  imports: string[];
  /** The full names that the file declares. */
  symbols: string[];
  /** The encoded google.protobuf.FileDescriptorProto in base64. */
  descriptor: string;
}

type Answer = ServerReflectionResponse['messageResponse'];

const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;

/** Older clients know only this name. Its messages are the same. */
const ServerReflectionAlphaDefinition = {
  ...ServerReflectionDefinition,
  fullName: 'grpc.reflection.v1alpha.ServerReflection',
} as const;

export const REFLECTION_DEFINITIONS = [ServerReflectionDefinition, ServerReflectionAlphaDefinition] as const;

/** Creates the server reflection service for the named services. Loads the descriptors of their contracts. */
export async function createReflectionService(services: readonly string[], draining: AbortSignal) {
  const { default: all } = await import('../../proto/gen/descriptors.json', { with: { type: 'json' } });
  const reflection = new Reflection([...services, ServerReflectionDefinition.fullName], all);
  return {
    async *serverReflectionInfo(
      requests: AsyncIterable<ServerReflectionRequest>,
    ): AsyncGenerator<ServerReflectionResponse> {
      const received = requests[Symbol.asyncIterator]();
      while (!draining.aborted) {
        const next = await abortable(received.next(), draining).catch((error: unknown) => {
          if (draining.aborted) return undefined;
          throw error;
        });
        if (!next || next.done) return;
        yield reflection.answer(next.value);
      }
    },
  };
}

/** Answers requests about the contracts of some services and the files that these import. */
class Reflection {
  readonly #services: readonly string[];
  readonly #byName = new Map<string, ContractFile>();
  readonly #bySymbol = new Map<string, ContractFile>();

  constructor(services: readonly string[], all: readonly ContractFile[]) {
    this.#services = services.toSorted();
    const known = new Map(all.map((file) => [file.name, file]));
    for (const file of all)
      if (file.symbols.some((symbol) => services.includes(symbol))) this.#add(file, known);
  }

  #add(file: ContractFile, known: ReadonlyMap<string, ContractFile>): void {
    if (this.#byName.has(file.name)) return;
    this.#byName.set(file.name, file);
    for (const symbol of file.symbols) this.#bySymbol.set(symbol, file);
    for (const imported of this.#importsOf(file, known)) this.#add(imported, known);
  }

  #importsOf({ imports }: ContractFile, known: ReadonlyMap<string, ContractFile>): ContractFile[] {
    return imports.flatMap((name) => known.get(name) ?? []);
  }

  answer(originalRequest: ServerReflectionRequest): ServerReflectionResponse {
    const messageResponse = this.#answerTo(originalRequest.messageRequest);
    return { validHost: originalRequest.host, originalRequest, messageResponse };
  }

  #answerTo(request: ServerReflectionRequest['messageRequest']): Answer {
    switch (request?.$case) {
      case 'listServices':
        return {
          $case: 'listServicesResponse',
          value: { service: this.#services.map((name) => ({ name })) },
        };
      case 'fileByFilename':
        return this.#fileResponse(this.#byName.get(request.value), request.value);
      case 'fileContainingSymbol':
        return this.#fileResponse(this.#bySymbol.get(request.value), request.value);
      case 'allExtensionNumbersOfType':
        if (!this.#bySymbol.has(request.value)) return notFound(request.value);
        // The contracts declare no extensions.
        return {
          $case: 'allExtensionNumbersResponse',
          value: { baseTypeName: request.value, extensionNumber: [] },
        };
      case 'fileContainingExtension':
        return notFound(`extension ${request.value.extensionNumber} of ${request.value.containingType}`);
      default:
        return errorResponse(INVALID_ARGUMENT, 'The request has no known kind.');
    }
  }

  /** A response contains the file and all files that it imports, because not every client asks for them. */
  #fileResponse(file: ContractFile | undefined, name: string): Answer {
    if (!file) return notFound(name);
    const found = new Set([file]);
    // A set also iterates over the files that are added meanwhile.
    for (const one of found) for (const imported of this.#importsOf(one, this.#byName)) found.add(imported);
    const fileDescriptorProto = [...found].map(({ descriptor }) => Buffer.from(descriptor, 'base64'));
    return { $case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
  }
}

function notFound(name: string): Answer {
  return errorResponse(NOT_FOUND, `Unknown: ${name}.`);
}

function errorResponse(errorCode: number, errorMessage: string): Answer {
  return { $case: 'errorResponse', value: { errorCode, errorMessage } };
}
