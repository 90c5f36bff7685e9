export { RegisteredData, RegisteredEvent, registeredTopic } from './events/registered.ts';
export { AccountType } from './http/fields.ts';
export { LoginRequest, Platform, TokenResponse } from './http/login.ts';
export { LogoutRequest, LogoutResponse } from './http/logout.ts';
export { RefreshRequest } from './http/refresh.ts';
export { RegisterRequest, RegisterResponse, SpaceCreationMode } from './http/register.ts';
export { type Route, type RouteName, routes } from './http/routes.ts';
export { type CloseReason, closeCodes, pushStreamPath } from './push/close-codes.ts';
export {
  AuthFrame,
  type AuthOkFrame,
  type ClientFrame,
  type HelloFrame,
  PingFrame,
  type PongFrame,
  type ServerFrame,
} from './push/frames.ts';
