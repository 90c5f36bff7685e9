package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"time"
)

// A publicKey verifies signatures of its own algorithm only: the token does not choose.
type publicKey struct {
	key       any
	algorithm string
}

func (v *Verifier) key(kid string) (publicKey, error) {
	v.keysMutex.RLock()
	key, isKnown := v.keys[kid]
	age := time.Since(v.known)
	v.keysMutex.RUnlock()
	if !isKnown || age > keysFresh {
		v.askIssuer(isKnown && age <= keysFresh+keysStale)
	}
	v.keysMutex.RLock()
	defer v.keysMutex.RUnlock()
	if time.Since(v.known) > keysFresh+keysStale {
		return publicKey{}, ErrUnavailable
	}
	if key, isKnown = v.keys[kid]; !isKnown {
		return publicKey{}, ErrInvalid
	}
	return key, nil
}

// askIssuer asks for metadata and keys, once a second at most. If that fails the last ones are used for a while.
// A caller that can go on with what is known does not wait for another one's question.
func (v *Verifier) askIssuer(canGoOn bool) {
	if !v.asking.TryLock() {
		if canGoOn {
			return
		}
		v.asking.Lock()
	}
	defer v.asking.Unlock()
	if time.Since(v.asked) < keysGap {
		return
	}
	began := time.Now()
	// After the answer: whoever waited for it does not ask once more.
	defer func() { v.asked = time.Now() }()
	var metadata struct {
		Issuer  string
		JwksURI string `json:"jwks_uri"`
		Longest int    `json:"access_token_max_lifetime_seconds"`
	}
	var set struct{ Keys []map[string]string }
	err := v.get(v.Address+"/.well-known/openid-configuration", &metadata)
	if err != nil || metadata.Issuer != v.Issuer {
		return
	}
	if metadata.Longest < 1 || metadata.Longest > longestLife {
		return
	}
	path := strings.TrimPrefix(metadata.JwksURI, strings.TrimSuffix(v.Issuer, "/"))
	if err := v.get(v.Address+path, &set); err != nil {
		return
	}
	keys := map[string]publicKey{}
	for _, jwk := range set.Keys {
		key, err := readKey(jwk)
		if err != nil {
			return
		}
		keys[jwk["kid"]] = key
	}
	v.keysMutex.Lock()
	defer v.keysMutex.Unlock()
	v.keys, v.known = keys, began
	v.longestLife = time.Duration(metadata.Longest) * time.Second
}

func (v *Verifier) get(url string, into any) error {
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		return err
	}
	return v.fetch(request, into)
}

func (v *Verifier) fetch(request *http.Request, into any) error {
	answer, err := v.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, longestText))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", answer.StatusCode)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

func readKey(jwk map[string]string) (publicKey, error) {
	x, err := base64.RawURLEncoding.DecodeString(jwk["x"])
	if err != nil {
		return publicKey{}, err
	}
	if jwk["alg"] == "EdDSA" && jwk["crv"] == "Ed25519" && len(x) == ed25519.PublicKeySize {
		return publicKey{ed25519.PublicKey(x), "EdDSA"}, nil
	}
	y, err := base64.RawURLEncoding.DecodeString(jwk["y"])
	if err != nil || jwk["alg"] != "ES256" || jwk["crv"] != "P-256" {
		return publicKey{}, errors.New("a key of another kind")
	}
	key := &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y)}
	return publicKey{key, "ES256"}, nil
}
