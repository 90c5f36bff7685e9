export {
  type ForceLogoutCommand,
  type ForceLogoutTarget,
  forceLogoutForms,
  forceLogoutQueue,
} from './events/force-logout.ts';
export { RegisteredData, RegisteredEvent, registeredTopic } from './events/registered.ts';
export { type ErrorDetails, errorBodyOf, violationTypes } from './http/error-body.ts';
export { AccountType } from './http/fields.ts';
export {
  AcceptInviteRequest,
  CurrentGroupResponse,
  GroupRole,
  MemberRemovedResponse,
  MembershipResponse,
  StockDeficit,
} from './http/groups.ts';
export {
  CreateInviteRequest,
  defaultInviteSeconds,
  type Invite,
  type InviteListResponse,
  type InvitePreviewResponse,
  type InviteResponse,
} from './http/invites.ts';
export { JsonWebKeySet } from './http/jwks.ts';
export { LoginRequest, Platform, TokenResponse } from './http/login.ts';
export { LogoutRequest, LogoutResponse } from './http/logout.ts';
export { RefreshRequest } from './http/refresh.ts';
export { RegisterRequest, RegisterResponse, SpaceCreationMode } from './http/register.ts';
export { requestIdPattern } from './http/request-headers.ts';
export type { Route } from './http/route.ts';
export { type RouteName, routes } from './http/routes.ts';
export {
  LogoutAllRequest,
  LogoutAllResponse,
  SessionListResponse,
  SessionRevokedResponse,
} from './http/sessions.ts';
export { type DocumentedError, type ErrorExample, openApiDocument, openApiPath } from './openapi/openapi-document.ts';
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
export { maxPushMessageBytes, PushMessage } from './push/push-message.ts';
