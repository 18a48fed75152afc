import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { TelemetrySettings } from './options.ts';

/** The name of the instrumentation scope and the namespace of all service names. */
export const SCOPE = 'agent-hosting-service';

/**
 * The attributes that all modules of this process share. The operator's attributes override the default ones. The
 * detectors of the SDK are not used: they add the command line, which can contain secrets.
 */
export function commonAttributes({ version, resourceAttributes }: TelemetrySettings): Record<string, string> {
  return {
    'service.namespace': SCOPE,
    'service.version': version,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': String(process.pid),
    ...resourceAttributes,
  };
}

/** The resource of a module's spans. */
export function moduleResource(
  module: string,
  { serviceName }: TelemetrySettings,
  attributes: Record<string, string>,
): Resource {
  const name = serviceName ?? attributes['service.name'] ?? module;
  return defaultResource().merge(resourceFromAttributes({ ...attributes, 'service.name': name }));
}

/** The resource of metrics and logs. */
export function processResource(settings: TelemetrySettings, attributes: Record<string, string>): Resource {
  return moduleResource(settings.processName, settings, attributes);
}
