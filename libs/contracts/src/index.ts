export { CloudEventEnvelope } from './events/cloud-event.ts';
export {
  type ForceLogoutCommand,
  type ForceLogoutTarget,
  forceLogoutForms,
  forceLogoutQueue,
} from './events/force-logout.ts';
export { RegisteredData, RegisteredEvent, registeredTopic } from './events/registered.ts';
export { errorBodyOf, violationTypes } from './http/error-body.ts';
export { AccountType } from './http/fields.ts';
export { GroupRole } from './http/groups.ts';
export { Platform } from './http/login.ts';
export { requestIdPattern } from './http/request-headers.ts';
export type { Route, Switch } from './http/route.ts';
export { type RouteName, routes } from './http/routes.ts';
export { type CloseReason, closeCodes, pushStreamPath } from './push/close-codes.ts';
export {
  AuthFrame,
  type AuthOkFrame,
  type ClientFrame,
  HelloFrame,
  type MessageFrame,
  PingFrame,
  type PongFrame,
  type ReconnectFrame,
  type ServerFrame,
} from './push/frames.ts';
export {
  FactorRemovalPayload,
  factorRemovalTopic,
  maxPushMessageBytes,
  NewDevicePayload,
  newDeviceTopic,
  PushMessage,
} from './push/push-message.ts';
