// SPDX-License-Identifier: BSD-3-Clause
//
// Vectors and covariances of three-dimensional space.
//
// The world frame is fixed to the ground, right-handed, z up (East-North-Up when geographic), in
// metres. Positions are double: an obstacle ten kilometres from the origin still resolves to
// nanometres. A sensor that measures relative to a moving aircraft adds the aircraft's pose first
// (examples/03_ego_pose.cc).
#pragma once

#include <array>
#include <cmath>

namespace aerocast {

struct Vec3 {
  double x = 0, y = 0, z = 0;

  Vec3& operator+=(const Vec3& o) { return x += o.x, y += o.y, z += o.z, *this; }
  Vec3& operator-=(const Vec3& o) { return x -= o.x, y -= o.y, z -= o.z, *this; }
  Vec3& operator*=(double s) { return x *= s, y *= s, z *= s, *this; }
  friend Vec3 operator+(Vec3 a, const Vec3& b) { return a += b; }
  friend Vec3 operator-(Vec3 a, const Vec3& b) { return a -= b; }
  friend Vec3 operator*(Vec3 a, double s) { return a *= s; }
  friend Vec3 operator*(double s, Vec3 a) { return a *= s; }
  friend bool operator==(const Vec3&, const Vec3&) = default;
};

inline double Dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3 Cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double SquaredNorm(const Vec3& a) { return Dot(a, a); }
inline double Norm(const Vec3& a) { return std::sqrt(SquaredNorm(a)); }
inline bool IsFinite(const Vec3& a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

// A symmetric 3x3 matrix in square metres: the covariance of a position. A standard deviation is
// always written sigma and always in metres; nothing in AeroCast stores a variance as a sigma.
struct Cov3 {
  double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;

  Cov3& operator+=(const Cov3& o) {
    xx += o.xx, xy += o.xy, xz += o.xz, yy += o.yy, yz += o.yz, zz += o.zz;
    return *this;
  }
  Cov3& operator*=(double s) {
    xx *= s, xy *= s, xz *= s, yy *= s, yz *= s, zz *= s;
    return *this;
  }
  friend Cov3 operator+(Cov3 a, const Cov3& b) { return a += b; }
  friend Cov3 operator*(Cov3 a, double s) { return a *= s; }
  friend bool operator==(const Cov3&, const Cov3&) = default;

  static Cov3 Diagonal(double xx, double yy, double zz) { return {xx, 0, 0, yy, 0, zz}; }
  static Cov3 Isotropic(double sigma_m) {
    return Diagonal(sigma_m * sigma_m, sigma_m * sigma_m, sigma_m * sigma_m);
  }
  // v v^T, the spread between two means.
  static Cov3 Outer(const Vec3& v) {
    return {v.x * v.x, v.x * v.y, v.x * v.z, v.y * v.y, v.y * v.z, v.z * v.z};
  }
};

// d^T C d: the variance along the unit vector d.
inline double VarianceAlong(const Cov3& c, const Vec3& d) {
  return c.xx * d.x * d.x + c.yy * d.y * d.y + c.zz * d.z * d.z +
         2 * (c.xy * d.x * d.y + c.xz * d.x * d.z + c.yz * d.y * d.z);
}

// The lower Cholesky factor L of a covariance, C = L L^T, with what is asked of it most often.
struct Cholesky3 {
  double l00 = 0, l10 = 0, l11 = 0, l20 = 0, l21 = 0, l22 = 0;
  bool ok = false;  // false: the matrix is not positive definite, or not finite

  explicit Cholesky3(const Cov3& c);

  // L z: turns three independent standard normals into a draw with covariance C.
  Vec3 Apply(const Vec3& z) const {
    return {l00 * z.x, l10 * z.x + l11 * z.y, l20 * z.x + l21 * z.y + l22 * z.z};
  }
  // L^-1 v: whitens a residual.
  Vec3 Whiten(const Vec3& v) const {
    const double a = v.x / l00;
    const double b = (v.y - l10 * a) / l11;
    return {a, b, (v.z - l20 * a - l21 * b) / l22};
  }
  double Determinant() const {
    const double d = l00 * l11 * l22;
    return d * d;
  }
  double LogDeterminant() const { return 2 * (std::log(l00) + std::log(l11) + std::log(l22)); }
};

inline Cholesky3::Cholesky3(const Cov3& c) {
  if (!(c.xx > 0)) return;
  l00 = std::sqrt(c.xx), l10 = c.xy / l00, l20 = c.xz / l00;
  const double d1 = c.yy - l10 * l10;
  if (!(d1 > 0)) return;
  l11 = std::sqrt(d1), l21 = (c.yz - l20 * l10) / l11;
  const double d2 = c.zz - l20 * l20 - l21 * l21;
  if (!(d2 > 0)) return;
  l22 = std::sqrt(d2);
  ok = std::isfinite(l00) && std::isfinite(l11) && std::isfinite(l22) && std::isfinite(l10) &&
       std::isfinite(l20) && std::isfinite(l21);
}

inline bool IsPositiveDefinite(const Cov3& c) { return Cholesky3(c).ok; }

// A rotation about the vertical axis: the only rotation that leaves "up" up.
struct Yaw {
  double cos = 1, sin = 0;

  static Yaw FromAngle(double radians) { return {std::cos(radians), std::sin(radians)}; }
  Yaw Inverse() const { return {cos, -sin}; }
  Vec3 operator*(const Vec3& v) const {
    return {cos * v.x - sin * v.y, sin * v.x + cos * v.y, v.z};
  }
  // R C R^T
  Cov3 Rotate(const Cov3& c) const {
    const double cs = cos * sin;
    return {cos * cos * c.xx - 2 * cs * c.xy + sin * sin * c.yy,
            cs * (c.xx - c.yy) + (cos * cos - sin * sin) * c.xy,
            cos * c.xz - sin * c.yz,
            sin * sin * c.xx + 2 * cs * c.xy + cos * cos * c.yy,
            sin * c.xz + cos * c.yz,
            c.zz};
  }
};

}  // namespace aerocast
