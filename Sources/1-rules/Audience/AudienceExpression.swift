/// Who is meant by a push, as a tree over what a service knows of its devices.
public indirect enum AudienceExpression: Hashable, Sendable {
  case everyone
  case tag(String)
  case alias(String)
  case registrationID(String)
  case all([AudienceExpression])
  case any([AudienceExpression])
  case not(AudienceExpression)
}
