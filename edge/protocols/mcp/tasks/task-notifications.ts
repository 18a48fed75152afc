import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { declaredCapabilities } from '../client-capabilities.ts';
import { errorText } from '../json-rpc.ts';
import { isObject, type ReceivedMessage } from '../message.ts';
import { missingTasks } from './serve-tasks.ts';

/**
 * Refuses `subscriptions/listen` that asks for notifications of tasks without the capability, as the extension wants. With it,
 * the acknowledgement leaves the tasks out: clients read them with `tasks/get`.
 */
export function refuseTaskNotifications({ id, params }: ReceivedMessage): Response | undefined {
  const { notifications, _meta: meta } = params;
  if (!isObject(notifications) || !('taskIds' in notifications)) return undefined;
  const declared = isObject(meta) ? meta[CLIENT_CAPABILITIES_META_KEY] : undefined;
  if (declaredCapabilities(declared).tasks) return undefined;
  const { code, message, data } = missingTasks();
  const headers = { 'content-type': 'application/json' };
  return new Response(errorText(code, message, id, isObject(data) ? data : undefined), {
    status: 400,
    headers,
  });
}
