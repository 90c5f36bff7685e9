/** Certificate of the tests' mail servers on 127.0.0.1, good until 2126, with its key. It is worth nothing elsewhere. */
export const mailServerCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBuTCCAV+gAwIBAgIUPQZwr4RsNpNMneKX8Fp8EK0exywwCgYIKoZIzj0EAwIw
IzEhMB8GA1UEAwwYbWFpbCBzZXJ2ZXIgb2YgdGhlIHRlc3RzMCAXDTI2MTEyMjEx
NDYxNFoYDzIxMjYxMDI5MTE0NjE0WjAjMSEwHwYDVQQDDBhtYWlsIHNlcnZlciBv
ZiB0aGUgdGVzdHMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ+i1DLDZbrfolD
Z+Q/SbClsrWElHrq+uJpUoENn1vxCQ+o49nlTtUg/f/mCvXs1Z+gQciHLiYsk6xj
ZZ1/S7lDo28wbTAdBgNVHQ4EFgQUXsoWjiAtADZzQLYZBEJ1jaRmNnUwHwYDVR0j
BBgwFoAUXsoWjiAtADZzQLYZBEJ1jaRmNnUwDwYDVR0TAQH/BAUwAwEB/zAaBgNV
HREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZIzj0EAwIDSAAwRQIhAL23fGsb
lbaCzC+zqYgZ1q5JrKHIc+xoNXrJ3/SzEp5tAiAUlwgxcGHsdUaYcQfbuq08TQOA
7No86FDg1sSdodN3Xg==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQggKFch1hrI5Afgfrb
LkH7X0WPiJLLV1tsXeB+V0zEce2hRANCAAQ+i1DLDZbrfolDZ+Q/SbClsrWElHrq
+uJpUoENn1vxCQ+o49nlTtUg/f/mCvXs1Z+gQciHLiYsk6xjZZ1/S7lD
-----END PRIVATE KEY-----
`,
};
