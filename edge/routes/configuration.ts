import { Type } from 'typebox';
import { requireAdministrator } from '../authentication/authenticator.ts';
import { list } from '../envelope.ts';
import { route } from '../route.ts';
import { flag, nullable, text } from '../schemas/common.ts';

const SettingShape = Type.Object(
  {
    name: text('The name of the environment variable.', { examples: ['SERVICE_PORT'] }),
    value: nullable(text('The effective value; null for secrets and unset values.'), {
      examples: ['8080'],
    }),
    is_set: flag('Whether the value was set; if not, it is the default.', false),
    is_secret: flag('Whether the setting is a secret, whose value is never shown.', false),
    about: text('A description of the setting.', { examples: ['The TCP port to listen on.'] }),
  },
  { title: 'Setting' },
);

export const configurationRoutes = [
  route({
    method: 'GET',
    path: '/admin/configuration',
    operationId: 'getConfiguration',
    tag: 'Configuration',
    summary: 'Get the configuration',
    description:
      'Requires an administrator. Returns all settings of the process that serves this request, by name. Other processes can ' +
      'have other settings.',
    success: { status: 200, description: 'All settings.', data: SettingShape, list: true },
    errors: ['FORBIDDEN'],
    async answer({ request, configuration }) {
      requireAdministrator(request);
      const settings = configuration.map(({ variable, value, isSet, isSecret, about }) => ({
        name: variable,
        value: value ?? null,
        is_set: isSet,
        is_secret: isSecret,
        about,
      }));
      return list(settings, undefined);
    },
  }),
];
